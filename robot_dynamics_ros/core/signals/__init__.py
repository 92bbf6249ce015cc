"""Signal processing on recorded samples with their real, irregular time stamps."""
