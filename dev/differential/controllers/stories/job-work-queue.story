# A pod that is deleted while it runs is replaced; one that somebody makes with the labels is no part.
Quiet: 1500ms

### a work queue of two
create
  kind: Job
  metadata: {name: work}
  spec:
    parallelism: 2
    template:
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
run

### one is deleted
delete pods/work-<1>
pass 12s

### one ends: no more are started
succeed 1

### all end
succeed
