// Temporal's SQL tool with the one plugin that the tests need: the others would be most of the build.
package main

import (
	"os"

	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/tools/sql"
)

func main() {
	if err := sql.RunTool(os.Args); err != nil {
		os.Exit(1)
	}
}
