# A deadline for the whole job.
Quiet: 1500ms

### it runs
create
  kind: Job
  metadata: {name: work}
  spec:
    activeDeadlineSeconds: 15
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### too long
wait jobs/work status.conditions.Failed.status = True
