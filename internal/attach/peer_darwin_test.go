package attach

const dialVar = "ATTACH_DIAL"

func dialMain() int { return 1 }
