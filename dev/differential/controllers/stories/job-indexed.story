# Indexed: one pod for each index, one that fails is made anew.
Quiet: 1500ms

### three indexes
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 3
    parallelism: 3
    completionMode: Indexed
    backoffLimit: 3
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### one ends
succeed 1 batch.kubernetes.io/job-completion-index=1

### one fails
fail 1 batch.kubernetes.io/job-completion-index=0
wait jobs/work status.failed = 1
pass 12s

### all end
succeed
