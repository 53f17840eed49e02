# A finished job goes with its pods when its time is over.
Quiet: 1500ms

### it ends
create
  kind: Job
  metadata: {name: work}
  spec:
    ttlSecondsAfterFinished: 6
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
succeed

### its time is over
wait jobs/work gone
wait pods length = 0
