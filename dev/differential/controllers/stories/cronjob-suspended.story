# Suspended and wrong schedules: nothing starts; a job of hand is kept in the list of active ones.
Quiet: 1500ms

### suspended

create
  kind: CronJob
  metadata: {name: tick}
  spec:
    schedule: "* * * * *"
    suspend: true
    timeZone: Europe/Berlin
    jobTemplate:
      metadata: {labels: {a: b}}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}

### not started within its deadline
create
  kind: CronJob
  metadata: {name: never}
  spec:
    schedule: "0 0 30 2 *"
    startingDeadlineSeconds: 10
    jobTemplate:
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}

### deleted
delete cronjobs/tick
