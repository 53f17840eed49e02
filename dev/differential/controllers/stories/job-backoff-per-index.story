# A limit for each index: one index fails for good, the others go on.
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
    maxFailedIndexes: 2
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### one fails
fail 1 batch.kubernetes.io/job-completion-index=1

### the others end
succeed
