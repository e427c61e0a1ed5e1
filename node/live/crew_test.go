package live

import (
	"testing"
	"testing/synctest"

	"tidemark/node"
)

// lanesOf are lanes with a disk each, in the order of their numbers.
func lanesOf(scripts map[node.Lane]*script) node.Spec {
	spec := node.Spec{ID: 1}
	for _, id := range []node.Lane{node.Router, node.Lifecycle, node.Data0} {
		if s := scripts[id]; s != nil {
			spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: id, Process: s, Disk: true})
		}
	}
	return spec
}

// In each of these a callback waits for one of another lane, as a disk that stalls
// would keep it waiting: if nobody runs the other one, the test is deadlocked.

func TestLaneThatWaitsForItsDiskKeepsNoOtherFromRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{})
		var data, life script
		data.posted = func(node.Lane, any) {
			data.env.Post(node.Lifecycle, nil)
			if _, err := data.env.FS().Create("log"); err != nil {
				t.Error(err)
			}
			<-heard
			data.env.Exit("done")
		}
		life.posted = func(node.Lane, any) { close(heard) }
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}

func TestLaneWithMoreToDoLeavesTheLaneThatItPostedToToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan struct{})
		var data, life script
		data.posted = func(_ node.Lane, msg any) {
			switch msg {
			case nil:
				data.env.Post(node.Data0, "the second")
				data.env.Post(node.Lifecycle, nil)
			default:
				<-heard
				data.env.Exit("done")
			}
		}
		life.posted = func(node.Lane, any) { close(heard) }
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}

func TestLanesThatOneCallbackPostsToRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := make(chan struct{}), make(chan struct{})
		var data, life, router script
		data.posted = func(node.Lane, any) {
			data.env.Post(node.Lifecycle, nil)
			data.env.Post(node.Router, nil)
		}
		life.posted = func(node.Lane, any) {
			close(one)
			<-two
			life.env.Exit("done")
		}
		router.posted = func(node.Lane, any) {
			close(two)
			<-one
		}
		n := run(t, lanesOf(map[node.Lane]*script{node.Data0: &data, node.Lifecycle: &life, node.Router: &router}), Options{Dir: t.TempDir()})
		post(t, n, node.Data0, nil)
		n.Wait()
	})
}
