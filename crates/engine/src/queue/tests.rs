use tokio::time::{advance, timeout};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn queue() -> Queue<&'static str> {
    Queue::new(Backoff::default())
}

async fn nothing(queue: &Queue<&'static str>) -> bool {
    timeout(Duration::from_millis(1), queue.next()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn keys_come_in_the_order_they_were_added_and_once() {
    let queue = queue();
    for key in ["a", "b", "a"] {
        queue.add(key);
    }
    let first = queue.next().await.unwrap();
    let second = queue.next().await.unwrap();
    assert_eq!((*first.key(), *second.key()), ("a", "b"));
    assert!(nothing(&queue).await);
}

#[tokio::test(start_paused = true)]
async fn what_has_waited_for_others_comes_before_all_that_is_due() {
    let queue = queue();
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    queue.add_after("later", SECOND);
    queue.add_first("new");
    queue.add_first("c");
    for wanted in ["c", "new", "a", "b"] {
        let ticket = queue.next().await.unwrap();
        assert_eq!(*ticket.key(), wanted);
        ticket.finish(Done::Forget);
    }
    queue.add_first("soon");
    let ticket = queue.next().await.unwrap();
    assert_eq!((*ticket.key(), ticket.waited()), ("soon", Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_changes_while_it_is_worked_on_comes_again_afterwards() {
    let queue = queue();
    queue.add("a");
    let ticket = queue.next().await.unwrap();
    queue.add("a");
    assert!(nothing(&queue).await);
    ticket.finish(Done::After(60 * SECOND));
    let ticket = queue.next().await.unwrap();
    ticket.finish(Done::Forget);
    assert!(nothing(&queue).await);
}

#[tokio::test(start_paused = true)]
async fn the_earliest_time_wins() {
    let queue = queue();
    queue.add_after("a", 60 * SECOND);
    queue.add_after("a", 10 * SECOND);
    queue.add_after("a", 30 * SECOND);
    let start = Instant::now();
    let ticket = queue.next().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 10);
    ticket.finish(Done::Forget);
    assert!(timeout(100 * SECOND, queue.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_too_long() {
    let queue = Queue::new(Backoff {
        first: Duration::MAX,
        most: Duration::MAX,
    });
    queue.add_after("a", Duration::MAX);
    queue.add("a");
    queue.next().await.unwrap().finish(Done::After(Duration::MAX));
    queue.add("a");
    queue.next().await.unwrap().finish(Done::Retry);
    let due = queue.due(&"a").unwrap();
    assert_eq!(due.duration_since(Instant::now()), LONGEST);
}

#[tokio::test(start_paused = true)]
async fn failures_wait_longer_each_time_until_one_success() {
    let queue = queue();
    queue.add("a");
    let mut waits = Vec::new();
    for _ in 0..4 {
        let ticket = queue.next().await.unwrap();
        ticket.finish(Done::Retry);
        let start = Instant::now();
        let ticket = queue.next().await.unwrap();
        waits.push(start.elapsed().as_millis());
        ticket.finish(Done::Retry);
        // The second failure's wait is taken away by something that changed.
        queue.add("a");
    }
    assert_eq!(waits, [750, 3000, 12000, 48000]);
    queue.next().await.unwrap().finish(Done::After(SECOND));
    queue.next().await.unwrap().finish(Done::Retry);
    let start = Instant::now();
    let _ticket = queue.next().await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 750);
}

#[test]
fn the_longest_wait_is_kept() {
    let backoff = Backoff::default();
    assert_eq!(backoff.after(1), Duration::from_millis(750));
    assert_eq!(backoff.after(11), Duration::from_secs(768));
    for failures in [12, 32, 33, 64, u32::MAX] {
        assert_eq!(backoff.after(failures), Duration::from_secs(900), "{failures}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_is_cut_off_is_tried_again() {
    let queue = queue();
    queue.add("a");
    drop(queue.next().await.unwrap());
    assert!(nothing(&queue).await);
    advance(SECOND).await;
    assert_eq!(*queue.next().await.unwrap().key(), "a");
}

#[tokio::test(start_paused = true)]
async fn all_workers_end_when_the_queue_is_closed() {
    let queue = queue();
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.next().await.is_none() })
        })
        .collect();
    tokio::task::yield_now().await;
    queue.close();
    for worker in workers {
        assert!(worker.await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_load_tells_what_waits_and_what_goes_on() {
    let queue = queue();
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    queue.add_after("d", 60 * SECOND);
    let a = queue.next().await.unwrap();
    advance(2 * SECOND).await;
    let b = queue.next().await.unwrap();
    assert_eq!((a.waited(), b.waited()), (Duration::ZERO, 2 * SECOND));
    advance(SECOND).await;
    let load = queue.load();
    assert_eq!((load.depth, load.adds, load.retries), (1, 4, 0));
    assert_eq!((load.longest, load.unfinished), (3 * SECOND, 4 * SECOND));
    a.finish(Done::Retry);
    b.finish(Done::Forget);
    let load = queue.load();
    assert_eq!((load.adds, load.retries, load.longest), (5, 1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn several_workers_share_what_is_due() {
    let queue = queue();
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.next().await.map(|ticket| *ticket.key()) })
        })
        .collect();
    tokio::task::yield_now().await;
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    let mut keys = Vec::new();
    for worker in workers {
        keys.push(worker.await.unwrap().unwrap());
    }
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b", "c"]);
}
