# Available some seconds after ready; the next pod waits for that.

### the first is ready
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    minReadySeconds: 10
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
run 1

### the first is available
wait pods length = 2
