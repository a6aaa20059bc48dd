package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// measurement is one call of the command run.
type measurement struct {
	subject  *subject
	tasks    []*Task
	repeat   int
	parallel int
	file     string // of the results; empty: none
}

// job is a trial to do.
type job struct {
	task   *Task
	repeat int
}

// measure runs the trials that the file does not have yet, and saves the file after each one. The first problem with the harness itself
// ends the measurement: the finished trials stay in the file.
func (m *measurement) measure(ctx context.Context, w io.Writer) (*Results, error) {
	results, err := resume(m.file, m.subject.setup)
	if err != nil {
		return nil, err
	}
	var open []job
	for repeat := 1; repeat <= m.repeat; repeat++ {
		for _, t := range m.tasks {
			if !results.has(t.Name, repeat) {
				open = append(open, job{t, repeat})
			}
		}
	}
	if done := len(m.tasks)*m.repeat - len(open); done > 0 {
		fmt.Fprintf(w, "%s has %d of %d trials already\n", m.file, done, len(m.tasks)*m.repeat)
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	number := 0
	for done := range m.trials(limited, open) {
		number++
		if err != nil {
			continue // the others were cancelled
		}
		if done.err != nil {
			err = done.err
			cancel()
			continue
		}
		results.add(done.trial)
		printTrial(w, number, len(open), done.trial)
		if m.file != "" {
			err = results.save(m.file)
		}
		if err != nil {
			cancel()
		}
	}
	if ctx.Err() != nil {
		err = ctx.Err() // whatever it stopped
	}
	return results, err
}

// finished is a trial, or the reason why there is none.
type finished struct {
	trial Trial
	err   error
}

// trials runs the jobs, some at a time. The caller must receive all results.
func (m *measurement) trials(ctx context.Context, open []job) <-chan finished {
	todo, done := make(chan job), make(chan finished)
	var group sync.WaitGroup
	for range m.parallel {
		group.Go(func() {
			for j := range todo {
				trial, err := m.subject.trial(ctx, j.task, j.repeat)
				done <- finished{trial, err}
			}
		})
	}
	go func() { // ends when all trials are received
		defer close(done)
		defer group.Wait()
		defer close(todo)
		for _, j := range open {
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done
}

// newSetup describes a measurement with a program.
func newSetup(ctx context.Context, program, model, mode string, args []string, machine string) (Setup, error) {
	version, digest, err := identify(ctx, program)
	if err != nil {
		return Setup{}, err
	}
	return Setup{
		Tenon: version, Digest: digest, Model: model, Mode: mode, Args: args, Machine: machine,
		Date: time.Now().UTC().Truncate(time.Second),
	}, nil
}
