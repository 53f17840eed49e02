# Rules about success: the leader is enough.
Quiet: 1500ms

### three indexes
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 3
    parallelism: 3
    completionMode: Indexed
    successPolicy: {rules: [{succeededIndexes: "0", succeededCount: 1}]}
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### another one ends
succeed 1 batch.kubernetes.io/job-completion-index=2

### the leader ends
succeed 1 batch.kubernetes.io/job-completion-index=0
