# Each minute; one finished job of each kind is kept.
Quiet: 1500ms
Counts: vary

### the first

create
  kind: CronJob
  metadata: {name: tick}
  spec:
    schedule: "* * * * *"
    successfulJobsHistoryLimit: 1
    jobTemplate:
      metadata: {labels: {a: b}}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
wait jobs length = 1
succeed

### the second
wait jobs length = 2
succeed

### suspended
patch cronjobs/tick {spec: {suspend: true}}
