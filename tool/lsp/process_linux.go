package lsp

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// attributes puts a server in a session of its own, and lets it die with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// memoryOf returns the bytes of memory that a process and all of its descendants use.
func memoryOf(pid int) (total int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children, pages := map[int][]int{}, map[int]int64{}
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // after the name of the program
		if len(fields) < 22 {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		size, _ := strconv.Atoi(string(fields[21]))
		own, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		children[parent], pages[own] = append(children[parent], own), int64(size)
	}
	todo, seen := []int{pid}, map[int]bool{}
	for len(todo) > 0 {
		one := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; seen[one] {
			continue
		}
		seen[one] = true
		total += pages[one] * int64(os.Getpagesize())
		todo = append(todo, children[one]...)
	}
	return total
}
