namespace vacant::cli {}
