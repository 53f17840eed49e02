# A pod that failed or ended is replaced and stays; one that is deleted is replaced at once.

### three
create
  kind: ReplicaSet
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run 1

### one fails
fail 1

### one is deleted
delete pods/web-<3>

### one is not ready any more
unready
