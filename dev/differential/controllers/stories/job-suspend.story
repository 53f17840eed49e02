# Suspended, resumed, suspended again.
Quiet: 1500ms

### suspended
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 2
    parallelism: 2
    suspend: true
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### resumed
patch jobs/work {spec: {suspend: false}}
run

### suspended again
patch jobs/work {spec: {suspend: true}}

### and resumed
patch jobs/work {spec: {suspend: false}}
succeed
