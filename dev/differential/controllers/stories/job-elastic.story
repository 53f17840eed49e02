# An indexed job whose size changes while it runs.
Quiet: 1500ms

### two indexes
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 2
    parallelism: 2
    completionMode: Indexed
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### three
patch jobs/work {spec: {completions: 3, parallelism: 3}}

### one
patch jobs/work {spec: {completions: 1, parallelism: 1}}

### it ends
succeed
