package catalog

// Text returns the newest part of a catalog as it is kept.
func Text(c *Catalog) string { return c.layers[0].text }
