package main

func Example() {
	main()
	// Output:
	// I note it.
	// [add {"item":"milk"}]
	// [add {"item":"a pony"}]
	// Milk it is.
	// list: [milk] <nil>
}
