# A limit of failures: the job fails, and its running pods end.
Quiet: 1500ms

### two run
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 2
    parallelism: 2
    backoffLimit: 0
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### one fails
fail 1
