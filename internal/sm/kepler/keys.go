package kepler

import (
	"errors"
	"fmt"
)

// Keys are the names of the settings of a core, as a user writes them.
var Keys = append([]string{"kepler.conform"}, chipKeys()...)

// Set changes a setting by its name. The conformance level sets every switch,
// so it comes before all others.
func (c *Config) Set(key, value string) error {
	if f, ok := c.Chip.fields()[key]; ok {
		if err := f.set(key, value); err != nil {
			return err
		}
		if c.Chip.Wanted() && !c.Extras {
			return errors.New("several SMs and caches are for kepler.conform=datasheet")
		}
		return nil
	}
	if key != "kepler.conform" {
		return fmt.Errorf("there is no key %q", key)
	}
	l, err := LevelByName(value)
	if err != nil {
		return err
	}
	*c = ConfigFor(l)
	return nil
}
