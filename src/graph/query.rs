//! Questions to the graph.
