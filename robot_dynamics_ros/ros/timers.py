"""Timers that a stopped or jumping clock cannot disable."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer


def steady_timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Make a timer on a steady clock with a period in seconds."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
