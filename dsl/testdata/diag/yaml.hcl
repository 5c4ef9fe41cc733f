# a pipeline
name: build
steps:
  - run: make
