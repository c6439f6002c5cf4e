/// The parameters of a unit: those of the hardware, with the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Elements computed in a cycle.
    pub lanes: usize,
    /// Size of the scratchpad.
    pub scratchpad_kib: usize,
    /// Parts of the scratchpad that are accessed at the same time.
    pub banks: usize,
    /// Size of the instruction memory.
    pub instruction_kib: usize,
    /// Loops within each other.
    pub loop_depth: usize,
    /// Bytes per beat of the memory ports.
    pub port_bytes: usize,
    /// Beats outstanding on each port.
    pub outstanding: usize,
    /// Operations that may wait for the unit.
    pub command_queue: usize,
}

impl Shape {
    /// Refuses parameters that the hardware does not support.
    ///
    /// # Errors
    /// The parameter, and its allowed values.
    pub fn check(&self) -> Result<(), String> {
        let powers = [
            ("lanes", self.lanes, 8, 256),
            ("scratchpad-kib", self.scratchpad_kib, 4, 256),
            ("banks", self.banks, 1, 16),
            ("instruction-kib", self.instruction_kib, 1, 64),
            ("port-bytes", self.port_bytes, 16, 32),
            ("outstanding", self.outstanding, 4, 64),
        ];
        for (name, value, least, most) in powers {
            if !value.is_power_of_two() || value < least || value > most {
                return Err(format!(
                    "{name}: {value} is not allowed; a power of two from {least} to {most}"
                ));
            }
        }
        for (name, value, least, most) in [
            ("loop-depth", self.loop_depth, 2, 7),
            ("command-queue", self.command_queue, 1, 8),
        ] {
            if value < least || value > most {
                return Err(format!("{name}: {value} is not allowed; from {least} to {most}"));
            }
        }
        if self.lines() < 4 * self.banks {
            return Err(format!(
                "a scratchpad of {} KiB in {} banks has less than four lines of {} lanes in each",
                self.scratchpad_kib, self.banks, self.lanes
            ));
        }
        Ok(())
    }

    /// Bytes of a vector of the widest type, and of a line of the scratchpad.
    pub fn line_bytes(&self) -> usize {
        4 * self.lanes
    }

    /// Bytes of the scratchpad.
    pub fn scratchpad_bytes(&self) -> usize {
        1024 * self.scratchpad_kib
    }

    /// Its lines.
    pub fn lines(&self) -> usize {
        self.scratchpad_bytes() / self.line_bytes()
    }

    /// Instructions that it holds.
    pub fn instructions(&self) -> usize {
        1024 * self.instruction_kib / 4
    }
}
