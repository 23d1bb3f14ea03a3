package kepler

// Config says which machine is simulated.
type Config struct{}
