from typing import Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


def segment_softmax(src: torch.Tensor, index: torch.Tensor, num_nodes: int) -> torch.Tensor:
    """Softmax over the edges that end in the same node."""
    idx = index.unsqueeze(-1).expand_as(src)
    src_max = torch.full((num_nodes, src.size(1)), float('-inf')).scatter_reduce(0, idx, src, reduce='amax')
    out = (src - src_max.index_select(0, index)).exp()
    out_sum = torch.zeros(num_nodes, src.size(1)).scatter_add_(0, idx, out)
    return out / (out_sum[index] + 1e-16)


def add_self_loops(edge_index: torch.Tensor, num_nodes: int) -> torch.Tensor:
    loops = torch.arange(0, num_nodes, dtype=edge_index.dtype, device=edge_index.device)
    return torch.cat([edge_index, loops.unsqueeze(0).repeat(2, 1)], dim=1)


class GATLayer(nn.Module):
    def __init__(self, in_features, out_features, heads=2, concat=True, negative_slope=0.2):
        super().__init__()
        self.heads, self.out_features, self.concat = heads, out_features, concat
        self.negative_slope = negative_slope
        self.lin = nn.Linear(in_features, heads * out_features, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_features))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_features))
        self.bias = nn.Parameter(torch.zeros(heads * out_features if concat else out_features))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.att_src, gain=1.414)
        nn.init.xavier_uniform_(self.att_dst, gain=1.414)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        n = x.size(0)
        h = self.lin(x).view(-1, self.heads, self.out_features)
        src, dst = edge_index
        alpha_src = (h * self.att_src).sum(dim=-1)
        alpha_dst = (h * self.att_dst).sum(-1)
        alpha = F.leaky_relu(alpha_src[src] + alpha_dst[dst], self.negative_slope)
        alpha = segment_softmax(alpha, dst, n)
        messages = h[src] * alpha.unsqueeze(-1)
        out = torch.zeros_like(h).index_add(0, dst, messages)
        if self.concat:
            out = out.flatten(start_dim=1)
        else:
            out = out.mean(dim=1)
        out = out + self.bias
        return out, alpha


class Model(nn.Module):
    def __init__(self, in_features, hidden, classes):
        super().__init__()
        self.conv1 = GATLayer(in_features, hidden)
        self.conv2 = GATLayer(2 * hidden, classes, concat=False)
        self.skip = nn.Linear(in_features, classes)

    def forward(self, x, edge_index, graph_of_node):
        edge_index = add_self_loops(edge_index, x.shape[0])
        h, _ = self.conv1(x, edge_index)
        h = F.elu(h)
        h, alpha = self.conv2(h, edge_index)
        h = h + self.skip(x)
        graphs = int(graph_of_node.max()) + 1
        counts = torch.bincount(graph_of_node, minlength=graphs).clamp_(min=1)
        pooled = torch.zeros(graphs, h.shape[-1]).index_add_(0, graph_of_node, h) / counts[:, None]
        degree = torch.zeros(x.size(0)).scatter_add(0, edge_index[1], torch.ones(edge_index.size(1)))
        deg_inv_sqrt = degree.pow(-0.5)
        deg_inv_sqrt[deg_inv_sqrt == float('inf')] = 0
        norm = deg_inv_sqrt[edge_index[0]] * deg_inv_sqrt[edge_index[1]]
        return F.log_softmax(pooled, dim=-1), alpha, norm


def get_inputs():
    x = torch.randn(7, 5)
    edges = torch.tensor([[0, 1, 2, 2, 3, 4, 5, 6, 6], [1, 0, 1, 3, 2, 5, 6, 4, 5]])
    return [x, edges, torch.tensor([0, 0, 0, 0, 1, 1, 1])]


def get_init_inputs():
    return [5, 6, 3]
