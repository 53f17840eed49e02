# Managed by somebody else, and with parallelism 0: nothing happens.
Quiet: 1500ms

### managed by another
create
  kind: Job
  metadata: {name: work}
  spec:
    managedBy: example.com/other
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### none at a time
create
  kind: Job
  metadata: {name: none}
  spec:
    parallelism: 0
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### one at a time
patch jobs/none {spec: {parallelism: 1}}

### deleted with its pods
delete jobs/none Foreground
wait jobs/none gone
