"""AOTAutograd leaves out what a graph writes to its inputs."""

from torch._functorch._aot_autograd import graph_capture_wrappers

MET_BY = r"\w_\(|\] = |\] \+= "


def plant():
    graph_capture_wrappers.apply_in_graph_mutations = lambda *arguments, **named: None


plant()
