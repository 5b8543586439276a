//! The graph to work on: read from a file, or made.

use std::path::Path;

use anyhow::{Result, anyhow};
use motet::{Communicator, Max};

use crate::edge_list::EdgeList;
use crate::failure::{agree, alike};
use crate::graph::Graph;
use crate::options::Options;
use crate::partition::Partition;
use crate::rmat;

/// A graph and what it is called.
pub(crate) struct Problem {
    /// For people to read.
    pub(crate) name: String,
    pub(crate) graph: Graph,
    /// What the vertices are called in the file, on rank 0; made ones are called by their numbers.
    names: Option<Vec<u64>>,
}

impl Problem {
    /// Reads or makes the graph that the options name.
    pub(crate) fn load(world: &Communicator, options: &Options) -> Result<Self> {
        let problem = match &options.file {
            Some(path) => Self::read(world, path),
            None => Self::make(world, options),
        }?;
        match problem.graph.edges {
            0 => Err(alike(world, anyhow!("no edges between different vertices"))),
            _ => Ok(problem),
        }
    }

    /// Rank 0 reads the file; then each edge goes to the ranks of its vertices.
    fn read(world: &Communicator, path: &Path) -> Result<Self> {
        let read = (world.rank() == 0).then(|| EdgeList::read(path));
        let (edges, names) = match agree(world, read.transpose())? {
            Some(EdgeList { edges, names }) => (edges, Some(names)),
            None => (Vec::new(), None),
        };
        let mut vertices = [names.as_ref().map_or(0, Vec::len)];
        world.bcast(&mut vertices, 0)?;
        let partition = Partition::new(vertices[0], world.size());
        let partition = partition.map_err(|error| alike(world, error))?;
        let name = path.display().to_string();
        Ok(Self { name, graph: Graph::new(world, partition, &edges)?, names })
    }

    /// Every rank makes the edges of a block of numbers.
    fn make(world: &Communicator, options: &Options) -> Result<Self> {
        let scale = options.rmat.expect("clap wants one of the two");
        let vertices = 1_usize << scale;
        let partition = Partition::new(vertices, world.size());
        let partition = partition.map_err(|error| alike(world, error))?;
        let edges = (vertices as u64) * options.degree;
        let start = |rank: usize| (u128::from(edges) * rank as u128 / world.size() as u128) as u64;
        let edges = rmat::edges(scale, start(world.rank())..start(world.rank() + 1));
        let name = format!("made, scale {scale}, {} edges drawn for each vertex", options.degree);
        Ok(Self { name, graph: Graph::new(world, partition, &edges)?, names: None })
    }

    /// What a vertex is called. Of a graph in a file only rank 0 can tell.
    pub(crate) fn name_of(&self, vertex: usize) -> u64 {
        self.names.as_ref().map_or(vertex as u64, |names| names[vertex])
    }

    /// The vertex of a name. Collective.
    pub(crate) fn vertex(&self, world: &Communicator, name: u64) -> Result<u32> {
        let vertices = self.graph.partition.vertices;
        let place = match &self.names {
            Some(names) => names.binary_search(&name).ok(),
            None => usize::try_from(name).ok().filter(|&vertex| vertex < vertices),
        };
        let mut found = [place.unwrap_or(vertices)];
        world.bcast(&mut found, 0)?;
        let missing = || alike(world, anyhow!("no vertex {name}"));
        if found[0] < vertices { Ok(found[0] as u32) } else { Err(missing()) }
    }

    /// A vertex for a search to begin at, drawn of those that have edges. Collective.
    pub(crate) fn draw(&self, world: &Communicator, number: u64) -> Result<u32> {
        let graph = &self.graph;
        let vertices = graph.partition.vertices as u64;
        let mut drawn = rmat::mixed(number);
        // There is an edge, so that some draw meets a vertex that has one.
        loop {
            drawn = rmat::mixed(drawn);
            let vertex = (drawn % vertices) as usize;
            let here = graph.own.contains(&vertex);
            let edges = if here { graph.ends(vertex - graph.own.start).len() } else { 0 };
            if world.allreduce_one(edges, Max)? > 0 {
                return Ok(vertex as u32);
            }
        }
    }
}
