-- A request that goes is looked for here, because its needs refer to it: without the index each end of an attempt read the needs of all that wait.
CREATE INDEX admission_needs_request ON admission_needs (request);
