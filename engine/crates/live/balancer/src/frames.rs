use crate::settings::BalancerError;
use crate::{Settings, XdpStatus};
use rackwright_xdp::{Attachment, Queue};

/// AF_XDP beside the sockets.
pub(crate) enum Frames {
    /// It was not requested.
    Unused,
    /// It was requested and is not available, for this reason: only sockets are used.
    Refused(String),
    /// It is at work.
    Used(Attachment),
}

impl Frames {
    /// According to the settings; the queues are for threads, one each until there are no more.
    pub(crate) fn new(settings: &Settings) -> Result<(Frames, Vec<Queue>), BalancerError> {
        let Some(xdp) = &settings.lanes.xdp else {
            return Ok((Frames::Unused, Vec::new()));
        };
        match Attachment::new(&xdp.interface, xdp.mode, settings.lanes.threads) {
            Ok((attachment, queues)) => Ok((Frames::Used(attachment), queues)),
            Err(error) if xdp.required => Err(error.into()),
            Err(error) => Ok((Frames::Refused(error.to_string()), Vec::new())),
        }
    }

    /// The attachment, if there is one.
    pub(crate) fn attachment(&self) -> Option<&Attachment> {
        match self {
            Frames::Used(attachment) => Some(attachment),
            Frames::Unused | Frames::Refused(_) => None,
        }
    }

    /// For people.
    pub(crate) fn status(&self, settings: &Settings) -> Option<XdpStatus> {
        let xdp = settings.lanes.xdp.as_ref()?;
        let attachment = self.attachment();
        Some(XdpStatus {
            interface: xdp.interface.clone(),
            mode: attachment.map(Attachment::mode),
            queues: attachment.map_or(0, Attachment::queues),
            zero_copy: attachment.is_some_and(Attachment::is_zero_copy),
            lost: attachment.map_or(0, |attachment| attachment.counts().lost),
            refused: match self {
                Frames::Refused(reason) => Some(reason.clone()),
                Frames::Unused | Frames::Used(_) => None,
            },
        })
    }
}
