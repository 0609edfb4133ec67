"""Box decoding and greedy non-maximum suppression, soft and hard."""
import torch
from torch import Tensor

BBOX_XFORM_CLIP = 4.135


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    area1 = box_area(boxes1)
    area2 = box_area(boxes2)
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (area1[:, None] + area2 - inter)


def decode(anchors: Tensor, deltas: Tensor, weights=(10.0, 10.0, 5.0, 5.0)) -> Tensor:
    widths = anchors[:, 2] - anchors[:, 0]
    heights = anchors[:, 3] - anchors[:, 1]
    ctr_x = anchors[:, 0] + 0.5 * widths
    ctr_y = anchors[:, 1] + 0.5 * heights
    wx, wy, ww, wh = weights
    dx, dy, dw, dh = (deltas / torch.tensor([wx, wy, ww, wh], device=deltas.device)).unbind(dim=1)
    dw = torch.clamp(dw, max=BBOX_XFORM_CLIP)
    dh = torch.clamp(dh, max=BBOX_XFORM_CLIP)
    pred_x, pred_y = dx * widths + ctr_x, dy * heights + ctr_y
    half_w, half_h = torch.exp(dw) * widths * 0.5, torch.exp(dh) * heights * 0.5
    return torch.stack((pred_x - half_w, pred_y - half_h, pred_x + half_w, pred_y + half_h), dim=1)


def clip_boxes(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    height, width = size
    boxes_x = boxes[..., 0::2].clamp(min=0, max=width)
    boxes_y = boxes[..., 1::2].clamp(min=0, max=height)
    clipped = torch.stack((boxes_x, boxes_y), dim=boxes.dim())
    return clipped.reshape(boxes.shape)


def greedy_nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = torch.argsort(scores, descending=True)
    ious = box_iou(boxes, boxes)
    suppressed = torch.zeros(len(scores), dtype=torch.bool, device=scores.device)
    keep = []
    for position, i in enumerate(order.tolist()):
        if suppressed[i]:
            continue
        keep.append(i)
        rest = order[position + 1:]
        suppressed[rest] |= ious[i, rest] > threshold
    return torch.tensor(keep, dtype=torch.long)


def soft_scores(boxes: Tensor, scores: Tensor, sigma: float = 0.5) -> Tensor:
    ious = box_iou(boxes, boxes).triu(diagonal=1)
    compensate = ious.max(dim=0).values
    decay = torch.exp(-(ious ** 2 - compensate[:, None] ** 2) / sigma).min(dim=0).values
    return scores * decay


def program(anchors, deltas, logits, image_size, score_threshold: float = 0.3, iou_threshold: float = 0.4):
    boxes = clip_boxes(decode(anchors, deltas), image_size)
    scores, labels = logits.sigmoid().max(dim=-1)
    mask = scores > score_threshold
    boxes, scores, labels = boxes[mask], scores[mask], labels[mask]
    if boxes.numel() == 0:
        return boxes, scores, labels, scores
    # each class is moved to its own part of the plane
    offsets = labels.to(boxes) * (boxes.max() + torch.tensor(1.0).to(boxes))
    shifted = boxes + offsets[:, None]
    keep = greedy_nms(shifted, scores, iou_threshold)
    order = scores.argsort(descending=True)
    softened = soft_scores(shifted[order], scores[order])
    return boxes[keep], scores[keep], labels[keep], softened


def inputs(rng):
    for n in (14, 9):
        corner = rng.uniform(n, 2, low=0.0, high=20.0)
        size = rng.uniform(n, 2, low=6.0, high=18.0)
        yield torch.cat([corner, corner + size], dim=1), rng.normal(n, 4), rng.normal(n, 3), (30, 40)
