"""Make the tiny test model: python tests/models/make_tiny_model.py [FILE]

A Llama of 0.65 million weights, trained from scratch on the starter items (hearteval's own text,
Apache-2.0) and written as GGUF, so that tests meet a genuine llama.cpp server without a download.
Needs torch, which hearteval itself does not: tests/models/data/README.md has the two commands.
"""

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from gguf_file import Value, write_gguf
from tiny_lessons import Lessons
from tiny_tokenizer import SPECIAL_TOKENS, Tokenizer, learn_merges, own_texts
from torch.nn import functional  # type: ignore[import-not-found]

log = logging.getLogger(__name__)

SEED = 7
N_STEPS = 420
PEAK_RATE = 4e-3
# (sequence length, sequences, share of steps): a few long ones, or replies to long prompts ramble.
BATCHES = ((512, 12, 0.85), (2048, 3, 0.11), (4096, 1, 0.04))

WIDTH, N_LAYERS, N_HEADS, N_KEY_HEADS, HIDDEN = 128, 3, 4, 2, 320
HEAD = WIDTH // N_HEADS
CONTEXT = 16384
LAYER_SHAPES: dict[str, tuple[int, ...]] = {
    "attn_norm": (WIDTH,),
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (N_KEY_HEADS * HEAD, WIDTH),
    "attn_v": (N_KEY_HEADS * HEAD, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_norm": (WIDTH,),
    "ffn_gate": (HIDDEN, WIDTH),
    "ffn_up": (HIDDEN, WIDTH),
    "ffn_down": (WIDTH, HIDDEN),
}
ROPE_BASE, EPSILON = 10000.0, 1e-5
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

Weights = dict[str, Any]


def main() -> None:
    """Learn the vocabulary, train, and write the file."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    default = Path(__file__).with_name("data") / "tiny.gguf"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    torch.manual_seed(SEED)
    merges = learn_merges(own_texts())
    tokenizer = Tokenizer(merges)
    weights = train(Lessons(tokenizer, np.random.default_rng(SEED)), len(tokenizer.tokens))
    tensors = {name: weight.detach().numpy() for name, weight in weights.items()}
    write_gguf(path, describe(tokenizer, merges), tensors)
    log.info("%s: %d bytes", path, path.stat().st_size)


def initial_weights(n_tokens: int) -> Weights:
    """Draw the weights, named as llama.cpp names them."""
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (n_tokens, WIDTH)}
    for layer in range(N_LAYERS):
        for name, shape in LAYER_SHAPES.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    shapes["output_norm.weight"] = (WIDTH,)
    return {
        name: torch.nn.Parameter(
            torch.ones(shape) if len(shape) == 1 else torch.randn(shape) * 0.04
        )
        for name, shape in shapes.items()
    }


def train(lessons: Lessons, n_tokens: int) -> Weights:
    """Train by next-token prediction on every token."""
    weights = initial_weights(n_tokens)
    optimizer = torch.optim.AdamW(weights.values(), lr=PEAK_RATE, betas=(0.9, 0.98))
    warm = N_STEPS // 12
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, 0.5 + 0.5 * np.cos(np.pi * step / N_STEPS) + 0.02),
    )
    plan = np.random.default_rng(SEED)
    for step in range(N_STEPS):
        length, n_sequences, _ = BATCHES[plan.choice(len(BATCHES), p=[b[2] for b in BATCHES])]
        batch = torch.tensor([lessons.sequence(length + 1) for _ in range(n_sequences)])
        logits = predict(weights, batch[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == N_STEPS - 1:
            log.info("step %4d  length %4d  loss %.3f", step, length, loss.item())
    return weights


def predict(weights: Weights, tokens: Any) -> Any:
    """Logits of the next token, as llama.cpp computes them for the architecture ``llama``."""
    n_sequences, length = tokens.shape
    turn = rotation(length)
    x = weights["token_embd.weight"][tokens]
    for layer in range(N_LAYERS):
        w = {name: weights[f"blk.{layer}.{name}.weight"] for name in LAYER_SHAPES}
        y = normalize(x, w["attn_norm"])
        q, k, v = (
            (y @ w[name].T).view(n_sequences, length, -1, HEAD).transpose(1, 2)
            for name in ("attn_q", "attn_k", "attn_v")
        )
        y = functional.scaled_dot_product_attention(
            rotate(q, turn), rotate(k, turn), v, is_causal=True, enable_gqa=True
        )
        x = x + y.transpose(1, 2).flatten(2) @ w["attn_output"].T
        y = normalize(x, w["ffn_norm"])
        y = functional.silu(y @ w["ffn_gate"].T) * (y @ w["ffn_up"].T)
        x = x + y @ w["ffn_down"].T
    return normalize(x, weights["output_norm.weight"]) @ weights["token_embd.weight"].T


def normalize(x: Any, gain: Any) -> Any:
    """RMS norm."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * gain


def rotation(length: int) -> Any:
    """Rotary angles as unit complex numbers, shape (length, HEAD / 2)."""
    rates = ROPE_BASE ** (-torch.arange(0, HEAD, 2) / HEAD)
    angles = torch.outer(torch.arange(length), rates)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x: Any, turn: Any) -> Any:
    """Turn neighbouring pairs of coordinates: ggml's "normal" rotary embedding."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


def describe(tokenizer: Tokenizer, merges: list[tuple[str, str]]) -> dict[str, Value]:
    """Write down the model's metadata."""
    n_special = len(SPECIAL_TOKENS)
    return {
        "general.architecture": "llama",
        "general.name": "hearteval tiny",
        "general.author": "The hearteval authors",
        "general.license": "apache-2.0",
        "general.description": "For tests only. Trained on hearteval's own starter items.",
        "general.file_type": 7,
        "general.quantization_version": 2,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": N_LAYERS,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": N_HEADS,
        "llama.attention.head_count_kv": N_KEY_HEADS,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": HEAD,
        "llama.rope.freq_base": ROPE_BASE,
        "llama.vocab_size": len(tokenizer.tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokenizer.tokens,
        "tokenizer.ggml.token_type": [3] * n_special + [1] * (len(tokenizer.tokens) - n_special),
        "tokenizer.ggml.merges": [f"{a} {b}" for a, b in merges],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": CHAT_TEMPLATE,
    }


if __name__ == "__main__":
    main()
