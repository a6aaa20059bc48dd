package main

func Example() {
	main()
	// Output: It needs oil. <nil>
}
