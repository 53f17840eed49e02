# Three completions, two at a time.
Quiet: 1500ms

### two start
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 3
    parallelism: 2
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### they run
run

### one ends
succeed 1

### all end
succeed 2
