# Forbid: while a job runs the next one is left out.
Quiet: 1500ms

### the first

create
  kind: CronJob
  metadata: {name: tick}
  spec:
    schedule: "* * * * *"
    concurrencyPolicy: Forbid
    jobTemplate:
      metadata: {labels: {a: b}}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
wait jobs length = 1

### a minute later
pass 61s
