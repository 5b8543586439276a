//! Requests and persistent operations of the safe layer as requests without their types.

use super::Request;
use crate::communicator_request::CommunicatorRequest;
use crate::sets::Pending;

impl<C: 'static> CommunicatorRequest<C> {
    /// The same request without its type. The communicator is delivered by the first call that
    /// tells that it is there, which may be one that leaves the request as it is; never if the
    /// request is given up before.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let (here, communicator) = std::sync::mpsc::channel();
    /// let mut request = world.idup()?.into_raw(move |copy| {
    ///     let _ = here.send(copy);
    /// });
    /// request.wait()?;
    /// assert_eq!(communicator.try_recv().map(|copy| copy.size()), Ok(2));
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn into_raw(mut self, deliver: impl FnOnce(C) + Send + 'static) -> Request {
        let flight = self.id.in_flight().0.take_over();
        Request::delivering(flight, move |over| {
            self.id.in_flight().0.end_as(over);
            // What went wrong is told by whoever asks for the delivery.
            if let Ok(communicator) = self.wait() {
                deliver(communicator);
            }
        })
    }
}
