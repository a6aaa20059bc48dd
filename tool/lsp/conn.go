package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// message is a request, a notification or a response of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is the error of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements [error].
func (e *rpcError) Error() string { return oneLine(e.Message, maxMessage) }

const (
	methodNotFound = -32601
	maxQueue       = 256      // messages that wait for the server to read
	maxQueued      = 64 << 20 // their bytes
)

// conn is a connection to a server. Its methods may be called concurrently, and none but call blocks.
type conn struct {
	out    io.WriteCloser
	handle func(method string, params json.RawMessage, request bool) (result any, err error) // must not block

	queue  chan []byte
	queued atomic.Int64
	closed chan struct{}

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan message
	err     error // why the connection ended
}

func newConn(out io.WriteCloser, handle func(string, json.RawMessage, bool) (any, error)) *conn {
	return &conn{out: out, handle: handle, queue: make(chan []byte, maxQueue), closed: make(chan struct{}), waiting: map[int64]chan message{}}
}

// fail ends the connection. The first cause counts.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.closed)
	c.out.Close()
}

func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// write sends the queued messages until the connection ends.
func (c *conn) write() {
	for {
		select {
		case data := <-c.queue:
			_, err := c.out.Write(data)
			if c.queued.Add(-int64(len(data))); err != nil {
				c.fail(fmt.Errorf("cannot write to the server: %w", err))
				return
			}
		case <-c.closed:
			return
		}
	}
}

// read handles messages of the server until the connection ends.
func (c *conn) read(in io.Reader) {
	r := bufio.NewReaderSize(in, maxHeader)
	for {
		body, err := readFrame(r)
		var m message
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				err = errors.New("the server ended")
			}
			c.fail(err)
			return
		}
		c.receive(m)
	}
}

func (c *conn) receive(m message) {
	switch {
	case m.Method == "":
		id, err := strconv.ParseInt(string(m.ID), 10, 64)
		if err != nil {
			return
		}
		c.mu.Lock()
		answer := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	case len(m.ID) == 0 || string(m.ID) == "null":
		_, _ = c.handle(m.Method, m.Params, false)
	default:
		reply := message{ID: m.ID}
		result, err := c.handle(m.Method, m.Params, true)
		if err == nil {
			reply.Result, err = json.Marshal(result)
		}
		if err != nil {
			reply.Error = &rpcError{methodNotFound, err.Error()}
		}
		c.send(reply)
	}
}

// send queues a message. A server that reads too slowly loses the connection.
func (c *conn) send(m message) {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		c.fail(err)
		return
	}
	data := frame(body)
	if c.queued.Add(int64(len(data))) > maxQueued {
		c.fail(errors.New("the server does not read its input"))
		return
	}
	select {
	case c.queue <- data:
	default:
		c.fail(errors.New("the server does not read its input"))
	}
}

func (c *conn) notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		c.fail(err)
		return
	}
	c.send(message{Method: method, Params: data})
}

// call sends a request and waits for the response, or for ctx.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	c.send(message{ID: json.RawMessage(strconv.FormatInt(id, 10)), Method: method, Params: data})
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		if result == nil || len(m.Result) == 0 {
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("the answer to %s has an unexpected form: %w", method, err)
		}
		return nil
	case <-c.closed:
		return c.cause()
	case <-ctx.Done():
		c.notify("$/cancelRequest", map[string]any{"id": id})
		return context.Cause(ctx)
	}
}
