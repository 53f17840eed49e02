# Replace: the job that runs gives way to the next one.
Quiet: 1500ms

### the first

create
  kind: CronJob
  metadata: {name: tick}
  spec:
    schedule: "* * * * *"
    concurrencyPolicy: Replace
    jobTemplate:
      metadata: {labels: {a: b}}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
wait jobs length = 1

### a minute later
pass 61s
