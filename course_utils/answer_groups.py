"""Functions of this package that are answers together: whoever has one has the others.

Facts of an exercise name them: forbids = ["answer_groups.ADAM"].
"""

SOFTMAX_ATTENTION = (
    "attention.attention",
    "attention.attention_weights",
    "attention.causal_attention",
    "attention.cross_attention",
    "attention.multi_head",
    "block.weigh",
    "autodiff.causal_attention",
)
LINEAR_ATTENTION = (
    "attention.linear_attention",
    "attention.causal_linear_attention",
    "attention.LinearAttentionState",
    "autodiff.causal_linear_attention",
)
RUNNING_AVERAGES = (
    "optimizers.moves",
    "optimizers.running_average",
    "optimizers.averaging_step",
    "optimizers.momentum_step",
    "optimizers.library_step",
    "optimizers.descend",
    "optimizers.train",
)
ADAM = ("optimizers.adam_l2_step", "optimizers.adamw_step", "optimizers.adam_step")
JACOBIANS = ("rnn.step_jacobian", "rnn.jacobians", "rnn.jacobian_product")
