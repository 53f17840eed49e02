# Rules about failures for one index.
Quiet: 1500ms

### two indexes
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 2
    parallelism: 2
    completionMode: Indexed
    backoffLimitPerIndex: 3
    podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [42]}}]}
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}

### one fails for good
fail 1 batch.kubernetes.io/job-completion-index=0 exit=42

### the other one ends
succeed
