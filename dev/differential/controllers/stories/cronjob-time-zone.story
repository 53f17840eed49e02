# Times are those of the zone; a start that was missed while suspended is made up for if its deadline allows.
Quiet: 1500ms
Counts: vary

### suspended, and of a zone
create
  kind: CronJob
  metadata: {name: late}
  spec:
    schedule: "* * * * *"
    timeZone: Asia/Kolkata
    suspend: true
    startingDeadlineSeconds: 120
    jobTemplate:
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
create
  kind: CronJob
  metadata: {name: gone-by}
  spec:
    schedule: "0 0 29 2 *"
    timeZone: America/New_York
    jobTemplate:
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}

### what was missed is made up for
pass 61s
patch cronjobs/late {spec: {suspend: false}}
wait jobs length = 1
patch cronjobs/late {spec: {suspend: true}}

### in a zone by the schedule itself
create
  kind: CronJob
  metadata: {name: "old"}
  spec:
    schedule: "@hourly"
    concurrencyPolicy: Forbid
    jobTemplate:
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
