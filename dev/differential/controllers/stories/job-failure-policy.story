# Rules about failures: one exit code fails the job at once, another does not count.
Quiet: 1500ms

### two run
create
  kind: Job
  metadata: {name: work}
  spec:
    completions: 2
    parallelism: 2
    backoffLimit: 5
    podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: main, operator: In, values: [42]}}, {action: Ignore, onExitCodes: {operator: In, values: [7]}}]}
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### one fails with a code that is ignored
fail 1 exit=7

### one fails with the code that ends all
fail 1 exit=42
