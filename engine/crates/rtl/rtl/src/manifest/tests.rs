use super::*;

fn with_ports(ports: &str) -> Result<Manifest, String> {
    with(&format!(
        r#""format":2,"clocks":[{CLOCK}],"attach":["hart"],"ports":[{ports}]"#
    ))
}

const CLOCK: &str = r#"{"pin":"clock","reset":"reset","hertz":2000000000}"#;

/// A manifest with these members beside those that all have.
fn with(members: &str) -> Result<Manifest, String> {
    Manifest::parse(&format!(
        r#"{{"unit":"u","design":"U","top":"U","verilog":["U.sv"],"idle":"idle","parameters":{{}},{members}}}"#
    ))
}

#[test]
fn the_former_format_is_read_and_told_what_to_change() {
    let ports = r#""ports":[{"contract":"command","name":"command","opcodes":[0]},
        {"contract":"memory","name":"history","bytes":16,"tag_bits":4}]"#;
    let former = with(&format!(r#""format":1,"clock":{CLOCK},{ports}"#)).unwrap();
    assert_eq!(former.clock().hertz, 2_000_000_000);
    assert_eq!(former.attach(), [Attach::Hart]);
    assert_eq!(former.ports[1].moves(), Some(Moves::Intermediate));
    let advice = former.advice().unwrap();
    for words in [r#""format": 2"#, r#""attach": ["hart"]"#, "port `history`"] {
        assert!(advice.contains(words), "{advice}");
    }
    let current = format!(r#""format":2,"clocks":[{CLOCK}],"attach":["hart"],{ports}"#);
    let current = with(&current).unwrap();
    assert_eq!(current.advice(), None);
    assert_eq!(current.ports[1].moves(), Some(Moves::Stream));
}

#[test]
fn formats_are_not_mixed() {
    let refused = |members: &str| with(members).unwrap_err();
    let unknown = refused(r#""format":3,"what":"ever","ports":[]"#);
    assert_eq!(unknown, "format 3 is unknown; 2 is read, and 1 as it was before");
    let early = refused(&format!(r#""format":1,"clock":{CLOCK},"attach":[],"ports":[]"#));
    assert_eq!(early, "`attach` is a part of format 2, not of 1");
    let late = refused(&format!(r#""format":2,"clock":{CLOCK},"attach":[],"ports":[]"#));
    assert!(late.starts_with("`clock` is a part of format 1"), "{late}");
    let silent = refused(&format!(r#""format":2,"clocks":[{CLOCK}],"ports":[]"#));
    assert!(silent.contains("`attach`"), "{silent}");
    let nowhere = refused(&format!(
        r#""format":2,"clocks":[{CLOCK}],"attach":["moon"],"ports":[]"#
    ));
    assert!(nowhere.contains("`moon`"), "{nowhere}");
}

#[test]
fn clocks_without_a_ratio_are_refused_with_both_names() {
    let refused = |second: &str| {
        let event = r#"{"contract":"event","name":"beat"}"#;
        let more = format!(r#""format":2,"attach":[],"clocks":[{CLOCK},{second}],"ports":[{event}]"#);
        with(&more).err()
    };
    let pixel = |hertz: u64, ports: &str| {
        refused(&format!(
            r#"{{"pin":"pixel","reset":null,"hertz":{hertz},"ports":[{ports}]}}"#
        ))
    };
    assert_eq!(pixel(500_000_000, r#""beat""#), None);
    let crooked = pixel(300_000_000, "").unwrap();
    assert!(
        crooked.contains("`clock` of 2000000000 Hz and `pixel` of 300000000 Hz"),
        "{crooked}"
    );
    assert_eq!(
        pixel(1, r#""tone""#).unwrap(),
        "clock `pixel` lists `tone`, which is no port"
    );
    assert_eq!(refused(CLOCK).unwrap(), "two clocks are on the pin `clock`");
}

#[test]
fn a_unit_is_refused_where_it_does_not_belong() {
    let manifest = with_ports("").unwrap();
    assert!(manifest.require(Attach::Hart).is_ok());
    let refused = manifest.require(Attach::Switch).unwrap_err().to_string();
    assert_eq!(
        refused,
        "unit `u` cannot be attached in a switch: by its manifest it may be beside a hart"
    );
}

#[test]
fn commands_are_told_apart() {
    let with = |commands: &str| {
        with_ports(&format!(
            r#"{{"contract":"command","name":"command","opcodes":[0],"commands":[{commands}]}}"#
        ))
    };
    let manifest = with(r#"{"name":"go","funct":0,"rs1":"how far"},{"name":"stop","funct":127}"#).unwrap();
    assert_eq!(manifest.commands().len(), 2);
    let twice = with(r#"{"name":"go","funct":0},{"name":"stop","funct":0}"#).unwrap_err();
    assert!(twice.contains("`go` and `stop`"), "{twice}");
    let beyond = with(r#"{"name":"go","funct":128}"#).unwrap_err();
    assert!(beyond.contains("0 to 127"), "{beyond}");
}

#[test]
fn ports_are_read_in_order() {
    let manifest = with_ports(
        r#"{"contract":"command","name":"command","opcodes":[0]},
           {"contract":"memory","name":"read","bytes":32,"tag_bits":6,"address_bits":64},
           {"contract":"memory","name":"write","bytes":16,"tag_bits":4},
           {"contract":"event","name":"stall"}"#,
    )
    .unwrap();
    assert_eq!(
        manifest.memory_ports().collect::<Vec<_>>(),
        [("read", 32), ("write", 16)]
    );
    assert_eq!(manifest.events().collect::<Vec<_>>(), ["stall"]);
    assert_eq!(manifest.opcodes(), [0]);
}

#[test]
fn impossible_ports_are_refused_by_name() {
    let wide = with_ports(r#"{"contract":"memory","name":"read","bytes":64,"tag_bits":6}"#);
    assert_eq!(
        wide.unwrap_err(),
        "port `read` moves 64 bytes per beat; 16 and 32 are possible"
    );
    let opcode = with_ports(r#"{"contract":"command","name":"command","opcodes":[4]}"#);
    assert_eq!(
        opcode.unwrap_err(),
        "port `command` names an opcode above custom-3"
    );
    let odd = r#"{"contract":"axi4-stream","name":"in","direction":"in","bytes":3,"naming":"lower"}"#;
    assert_eq!(
        with_ports(odd).unwrap_err(),
        "port `in` has transfers of 3 bytes; 1, 2, 4, 8, 16 and 32 are possible"
    );
    let whole = with_ports(&odd.replace('3', "4")).unwrap();
    assert_eq!(
        whole.check_frame("in", 6).unwrap_err(),
        "port `in` has no `tkeep`: it takes multiples of 4 bytes, not 6"
    );
    assert_eq!(whole.check_frame("in", 8), Ok(()));
    let name = with_ports(r#"{"contract":"event","name":"a-b"}"#);
    assert_eq!(name.unwrap_err(), "`a-b` is not a Verilog identifier");
}

#[test]
fn tilelink_is_registers_or_memory_by_the_direction_of_requests() {
    let port = |direction: &str, bytes: u32| {
        format!(
            r#"{{"contract":"tilelink","name":"{direction}","direction":"{direction}","bytes":{bytes},
                "address_bits":16,"size_bits":3,"source_bits":0}}"#
        )
    };
    let both = with_ports(&format!("{},{}", port("in", 8), port("out", 32))).unwrap();
    assert_eq!(both.memory_ports().collect::<Vec<_>>(), [("out", 32)]);
    assert_eq!(
        both.bus_registers().map(|of| (of.bytes, of.size)),
        Some((8, 65536))
    );
    let refused = |port: &str| with_ports(port).unwrap_err();
    assert_eq!(
        refused(&port("in", 16)),
        "port `in` has beats of 16 bytes; 4, 8 are possible"
    );
    assert_eq!(
        refused(&port("out", 8).replace("\"size_bits\":3", "\"size_bits\":5")),
        "port `out` has sizes of 5 bits; 2 to 4 are possible"
    );
    let other = port("in", 4).replace("\"name\":\"in\"", "\"name\":\"other\"");
    assert!(refused(&format!("{},{other}", port("in", 4))).contains("one of tilelink with registers"));
}

#[test]
fn ports_have_names_of_their_own() {
    let port = r#"{"contract":"memory","name":"read","bytes":16,"tag_bits":4}"#;
    let refused = with_ports(&format!("{port},{port}")).unwrap_err();
    assert_eq!(refused, "two ports are named `read`");
    let event = r#"{"contract":"event","name":"read"}"#;
    assert!(with_ports(&format!("{port},{event}")).is_ok());
}

#[test]
fn two_ways_to_command_a_unit_are_refused() {
    let both = with_ports(
        r#"{"contract":"command","name":"command","opcodes":[0]},{"contract":"mmio","name":"mmio"}"#,
    );
    assert!(both
        .unwrap_err()
        .contains("one command, mmio, axi4-lite or apb port"));
}
