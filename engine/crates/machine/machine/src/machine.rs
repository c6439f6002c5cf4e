use crate::hardware::Hardware;
use crate::pause::Pause;
use crate::processor::Processor;
use crate::workload::{Turn, Window, Workload};

/// Hardware and the workload that runs on it.
///
/// Harts take turns, in the order of their numbers, for windows of time: the behaviour of a machine depends neither on
/// the division into runs nor on the host. The length of windows is the workload's policy.
pub struct Machine<C, W> {
    pub(crate) hardware: Hardware<C>,
    pub(crate) workload: W,
    pub(crate) window: Window,
}

impl<C: Processor, W: Workload<C>> Machine<C, W> {
    /// A machine whose first window is still to be opened.
    pub fn with(hardware: Hardware<C>, workload: W) -> Machine<C, W> {
        Machine {
            hardware,
            workload,
            window: Window::default(),
        }
    }

    /// Its parts.
    pub fn hardware(&self) -> &Hardware<C> {
        &self.hardware
    }

    /// Its parts, for changes between two runs.
    pub fn hardware_mut(&mut self) -> &mut Hardware<C> {
        &mut self.hardware
    }

    /// Its workload.
    pub fn workload(&self) -> &W {
        &self.workload
    }

    /// Both, to be changed between two runs.
    pub fn parts(&mut self) -> (&mut Hardware<C>, &mut W) {
        (&mut self.hardware, &mut self.workload)
    }

    /// Runs until `until` or until a decision of the caller is needed; the next run continues from there.
    ///
    /// # Errors
    /// If software or a unit has violated a rule.
    pub fn run(&mut self, until: W::Time) -> Result<Pause, W::Error> {
        loop {
            let Machine {
                hardware,
                workload,
                window,
            } = self;
            if let Some(pause) = workload.resume(hardware, window) {
                return Ok(pause);
            }
            if !window.open {
                if let Some(pause) = workload.open(hardware, until)? {
                    return Ok(pause);
                }
                *window = Window { turn: 0, open: true };
            }
            match self.turns(until)? {
                Turn::Paused(pause) => return Ok(pause),
                Turn::Again => {}
                Turn::On | Turn::Over => {
                    self.workload.close(&mut self.hardware, until);
                    self.window = Window::default();
                }
            }
        }
    }

    /// Runs all harts that have not run in this window; returns whether the window has ended.
    fn turns(&mut self, until: W::Time) -> Result<Turn, W::Error> {
        let Machine {
            hardware,
            workload,
            window,
        } = self;
        while window.turn < hardware.cores.len() {
            let hart = window.turn;
            workload.begin(hardware, hart);
            while let Some(limit) = workload.limit(hardware, hart, until) {
                let stop = hardware.run(hart, limit);
                match workload.stopped(hardware, window, stop)? {
                    Turn::On => {}
                    Turn::Over => break,
                    other => return Ok(other),
                }
            }
            workload.end(hardware, hart);
            window.turn += 1;
        }
        Ok(Turn::Over)
    }
}
