# More failed indexes than are allowed.
Quiet: 1500ms

### three indexes
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 3
    parallelism: 3
    completionMode: Indexed
    backoffLimitPerIndex: 0
    maxFailedIndexes: 0
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### one fails
fail 1 batch.kubernetes.io/job-completion-index=2
