"""The demonstration: nodes in processes of their own, driven, recorded and measured over DDS."""
