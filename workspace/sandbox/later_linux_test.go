package sandbox_test

import (
	"os"
	"strings"
	"testing"
)

// What is hidden and comes into being between two commands, by whatever name, is hidden from the second.
func TestHiddenPlacesThatComeLater(t *testing.T) {
	g := newGround(t)
	g.policy.Hidden = append(g.policy.Hidden, g.work+"/secrets")
	look := `cat "$HOME/.kube/config" "$HOME/.vault-token" secrets/key; ls secrets; mkdir -p secrets && echo mine >secrets/key`
	if got := g.run(look); got.closed != nil || got.exit != 0 || strings.Contains(got.out, secretText) {
		t.Fatal(got)
	}
	g.write("home/.kube/config", secretText)
	g.write("home/elsewhere", secretText)
	g.write("work/secrets/key", secretText)
	if err := os.Symlink(g.home+"/elsewhere", g.home+"/.vault-token"); err != nil {
		t.Fatal(err)
	}
	got := g.run(look + `; cat "$HOME/elsewhere"`)
	if got.closed != nil || got.exit == 0 || strings.Contains(got.out, secretText) || strings.Contains(got.out, "\nkey\n") {
		t.Error(got)
	}
	if text, err := os.ReadFile(g.work + "/secrets/key"); string(text) != secretText {
		t.Errorf("it was changed to %q, %v", text, err)
	}
	if len(got.blocked) == 0 {
		t.Errorf("nothing is told: %v", got)
	}
}
