/* A database of the official SQLite: rows are inserted in a random order into a table with an index, some are changed
   and removed, then it is asked and checked by SQLite itself. Arguments: rows, and the database's file or nothing, with
   which it is in memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

enum { TEXT = 48, COMMIT_EVERY = 500 };

static sqlite3 *database;

static void demand(int result, int wanted) {
  if (result == wanted) return;
  printf("sqlite: %s\n", sqlite3_errmsg(database));
  exit(1);
}

static void run(const char *text) { demand(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK); }

static sqlite3_stmt *prepare(const char *text) {
  sqlite3_stmt *statement;
  demand(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
  return statement;
}

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005 + 1442695040888963407;
  return *state >> 33;
}

static void insert(unsigned rows) {
  sqlite3_stmt *statement = prepare("INSERT OR REPLACE INTO item VALUES (?, ?, ?)");
  uint64_t state = 1;
  char text[TEXT];
  for (unsigned row = 0; row < rows; ++row) {
    if (row % COMMIT_EVERY == 0) run("BEGIN");
    int length = snprintf(text, sizeof text, "item %llx of %u", (unsigned long long)draw(&state), row);
    demand(sqlite3_bind_int64(statement, 1, (int64_t)(draw(&state) % (4 * rows))), SQLITE_OK);
    demand(sqlite3_bind_text(statement, 2, text, length, SQLITE_TRANSIENT), SQLITE_OK);
    demand(sqlite3_bind_int64(statement, 3, (int64_t)(draw(&state) % 1000)), SQLITE_OK);
    demand(sqlite3_step(statement), SQLITE_DONE);
    demand(sqlite3_reset(statement), SQLITE_OK);
    if ((row + 1) % COMMIT_EVERY == 0 || row + 1 == rows) run("COMMIT");
  }
  sqlite3_finalize(statement);
}

static void tell(const char *question) {
  sqlite3_stmt *statement = prepare(question);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      printf("%s%s", column ? " " : "", (const char *)sqlite3_column_text(statement, column));
    printf("\n");
  }
  demand(sqlite3_finalize(statement), SQLITE_OK);
}

int main(int count, char **arguments) {
  if (count != 2 && count != 3) return 2;
  int rows = atoi(arguments[1]);
  if (rows < 1) return 2;
  demand(sqlite3_open(count == 3 ? arguments[2] : ":memory:", &database), SQLITE_OK);
  run("CREATE TABLE item (number INTEGER PRIMARY KEY, name TEXT, weight INTEGER)");
  run("CREATE INDEX by_weight ON item (weight, name)");
  insert((unsigned)rows);
  run("UPDATE item SET name = name || ' again' WHERE weight % 7 = 0");
  run("DELETE FROM item WHERE weight BETWEEN 100 AND 199");
  tell("SELECT count(*), sum(weight), sum(length(name)), sum(number) FROM item");
  tell("SELECT one.name, other.number FROM item one JOIN item other ON one.weight = other.weight AND one.number < "
       "other.number ORDER BY one.name DESC, other.number LIMIT 3");
  tell("PRAGMA integrity_check");
  demand(sqlite3_close(database), SQLITE_OK);
  return 0;
}
