namespace vacant::props {}
