"""What every room uses: text that is safe to show, small parts of sentences, files written whole, JUnit XML."""
