package main

func Example() {
	main()
	// Output:
	// engineer: Ship it to ten users.
	// It is careful and fast.
}
