package rackwright;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** Writes what YCSB asks a store for into the file `operations`, one operation in each line: its name, key, and value. */
public final class Printer extends DB {
    private PrintWriter operations;

    @Override
    public void init() throws DBException {
        try {
            operations = new PrintWriter(new FileWriter(getProperties().getProperty("operations"), true));
        } catch (IOException error) {
            throw new DBException(error);
        }
    }

    @Override
    public void cleanup() {
        operations.close();
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return print("get", key, Map.of());
    }

    @Override
    public Status scan(
            String table, String key, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> result) {
        return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return print("replace", key, values);
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return print("add", key, values);
    }

    @Override
    public Status delete(String table, String key) {
        return print("delete", key, Map.of());
    }

    private Status print(String name, String key, Map<String, ByteIterator> values) {
        StringBuilder value = new StringBuilder();
        values.values().forEach(field -> value.append(HexFormat.of().formatHex(field.toArray())));
        operations.println(name + " " + key + " " + value);
        return Status.OK;
    }
}
